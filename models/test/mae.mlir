// MAE has the trained parameters of Hugging Face's ViTMAEForPreTraining, by name and stored shape.
// RUN: weft-opt %S/../mae/mae.mlir --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.tensor=2" | FileCheck %s

// CHECK: weft.graph @train("images" %{{.*}}: tensor<4x3x224x224xi8>)
// CHECK-DAG: weft.random_uniform [4, 196]
// CHECK-DAG: weft.parameter "vit.embeddings.cls_token" [1, 1, 768]
// CHECK-DAG: weft.parameter "vit.embeddings.patch_embeddings.projection.weight" [768, 3, 16, 16]
// CHECK-DAG: weft.parameter "vit.encoder.layer.11.attention.attention.query.weight" [12, 64, 768] stored [768, 768]
// CHECK-DAG: weft.parameter "vit.layernorm.weight" [768]
// CHECK-DAG: weft.parameter "decoder.mask_token" [1, 1, 512]
// CHECK-DAG: weft.parameter "decoder.decoder_embed.weight" [512, 768]
// CHECK-DAG: weft.parameter "decoder.decoder_layers.7.output.dense.weight" [512, 2048]
// CHECK-DAG: weft.parameter "decoder.decoder_norm.bias" [512]
// CHECK-DAG: weft.parameter "decoder.decoder_pred.weight" [768, 512]
// CHECK: weft.minimize
