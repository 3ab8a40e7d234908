// ViTForImageClassification, imported from tests/torch_modules/models.py:vit.
model.config @layers = 2

model.layer @conv2d(%x) {
  %weight = weft.parameter "weight" [32, 3, 4, 4] init(normal 0.16)
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.unfold %x dim(2) size [4, 4] stride [4, 4]
  %1 = weft.einsum "bistjk,oijk->bost" %0, %weight
  %2 = weft.reshape %bias [32, 1, 1]
  %3 = weft.add %1, %2
  model.return %3
}

model.layer @vi_t_patch_embeddings(%x) {
  %0 = model.call @conv2d "projection" (%x)
  %1 = weft.reshape %0 [batch, 32, 16]
  %2 = weft.transpose %1 [0, 2, 1]
  model.return %2
}

model.layer @vi_t_embeddings(%x) {
  %cls_token = weft.parameter "cls_token" [1, 1, 32] init(normal 0.14)
  %position_embeddings = weft.parameter "position_embeddings" [1, 17, 32] init(normal 0.15)
  %0 = model.call @vi_t_patch_embeddings "patch_embeddings" (%x)
  %1 = weft.broadcast_to %cls_token [batch, 1, 32]
  %2 = weft.concat %1, %0 dim(1)
  %3 = weft.add %2, %position_embeddings
  model.return %3
}

model.layer @layer_norm(%x) {
  %weight = weft.parameter "weight" [32] init(ones)
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.layer_norm %x, %weight, %bias eps(1.0e-12)
  model.return %0
}

model.layer @linear(%x) {
  %weight = weft.parameter "weight" [4, 8, 32] stored [32, 32] init(normal 0.15) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [4, 8] stored [32] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,opi->bsop" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @vi_t_self_attention(%x) {
  %0 = model.call @linear "key" (%x)
  %1 = model.call @linear "value" (%x)
  %2 = model.call @linear "query" (%x)
  %3 = weft.attention %2, %0, %1
  model.return %3
}

model.layer @linear_2(%x) {
  %weight = weft.parameter "weight" [32, 4, 8] stored [32, 32] init(normal 0.15) sbp(tensor = S(1))
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.einsum "bsij,oij->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @vi_t_attention(%x) {
  %0 = model.call @vi_t_self_attention "attention" (%x)
  %1 = model.call @linear_2 "output.dense" (%0)
  model.return %1
}

model.layer @linear_3(%x) {
  %weight = weft.parameter "weight" [64, 32] init(normal 0.15) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [64] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @vi_t_intermediate(%x) {
  %0 = model.call @linear_3 "dense" (%x)
  %1 = weft.gelu %0 approximate(none)
  model.return %1
}

model.layer @linear_4(%x) {
  %weight = weft.parameter "weight" [32, 64] init(normal 0.15) sbp(tensor = S(1))
  %bias = weft.parameter "bias" [32] init(zeros)
  %0 = weft.einsum "bsi,oi->bso" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.layer @vi_t_output(%x, %y) {
  %0 = model.call @linear_4 "dense" (%x)
  %1 = weft.add %0, %y
  model.return %1
}

model.layer @vi_t_layer(%x) {
  %0 = model.call @layer_norm "layernorm_before" (%x)
  %1 = model.call @vi_t_attention "attention" (%0)
  %2 = weft.add %1, %x
  %3 = model.call @layer_norm "layernorm_after" (%2)
  %4 = model.call @vi_t_intermediate "intermediate" (%3)
  %5 = model.call @vi_t_output "output" (%4, %2)
  model.return %5
}

model.layer @vi_t_encoder(%x) {
  %0 = model.repeat layers "layer" @vi_t_layer(%x)
  model.return %0
}

model.layer @vi_t_model(%x) {
  %0 = model.call @vi_t_embeddings "embeddings" (%x)
  %1 = model.call @vi_t_encoder "encoder" (%0)
  %2 = model.call @layer_norm "layernorm" (%1)
  model.return %2
}

model.layer @linear_5(%x) {
  %weight = weft.parameter "weight" [10, 32] init(normal 0.15) sbp(tensor = S(0))
  %bias = weft.parameter "bias" [10] init(zeros) sbp(tensor = S(0))
  %0 = weft.einsum "bi,oi->bo" %x, %weight
  %1 = weft.add %0, %bias
  model.return %1
}

model.graph @train(%pixel_values [batch, 3, 16, 16] f32, %labels [batch] i32) {
  %0 = model.call @vi_t_model "vit" (%pixel_values)
  %1 = weft.slice %0 dim(1) from(0) size(1)
  %2 = weft.reshape %1 [batch, 32]
  %3 = model.call @linear_5 "classifier" (%2)
  %4, %5 = weft.cross_entropy %3, %labels
  weft.minimize %4 per %5
}
