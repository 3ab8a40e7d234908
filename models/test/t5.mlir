// T5 has the parameters of Hugging Face's T5ForConditionalGeneration, by name and stored shape.
// RUN: weft-opt %S/../t5/t5.mlir --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.tensor=2,model.set=vocab=256,model.set=seq=64,model.set=target=24,model.set=layers=2,model.set=decoder_layers=2,model.set=heads=4,model.set=head_dim=8,model.set=hidden=32,model.set=inner=64" | FileCheck %s

// CHECK: weft.graph @train("tokens" %{{.*}}: tensor<4x64xi32>, "mask" %{{.*}}: tensor<4x64xi8>, "labels" %{{.*}}: tensor<4x24xi32>)
// CHECK-DAG: weft.parameter "shared.weight" [256, 32]
// CHECK-DAG: weft.parameter "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight" [32, 4] {{.*}} sbp(tensor = S(1))
// CHECK-DAG: weft.parameter "encoder.block.1.layer.0.SelfAttention.q.weight" [4, 8, 32] stored [32, 32] {{.*}} sbp(tensor = S(0))
// CHECK-DAG: weft.parameter "encoder.block.1.layer.0.SelfAttention.o.weight" [32, 4, 8] stored [32, 32] {{.*}} sbp(tensor = S(1))
// CHECK-DAG: weft.parameter "encoder.block.1.layer.0.layer_norm.weight" [32]
// CHECK-DAG: weft.parameter "encoder.block.1.layer.1.DenseReluDense.wi.weight" [64, 32]
// CHECK-DAG: weft.parameter "encoder.block.1.layer.1.DenseReluDense.wo.weight" [32, 64]
// CHECK-DAG: weft.parameter "encoder.final_layer_norm.weight" [32]
// CHECK-DAG: weft.parameter "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight" [32, 4]
// CHECK-DAG: weft.parameter "decoder.block.1.layer.1.EncDecAttention.k.weight" [4, 8, 32] stored [32, 32]
// CHECK-DAG: weft.parameter "decoder.block.1.layer.2.DenseReluDense.wo.weight" [32, 64]
// CHECK-DAG: weft.parameter "decoder.final_layer_norm.weight" [32]
// CHECK-DAG: weft.attention {{.*}} bias({{.*}}) mask({{.*}}) scale(1.0{{.*}} : (tensor<4x64x4x8xf32>, {{.*}}tensor<1x4x64x64xf32>, tensor<4x1x1x64xi8>)
// CHECK-DAG: weft.attention {{.*}} bias({{.*}}) causal scale(1.0{{.*}} : (tensor<4x24x4x8xf32>, {{.*}}tensor<1x4x24x24xf32>)
// CHECK-DAG: weft.attention {{.*}} mask({{.*}}) scale(1.0{{.*}} : (tensor<4x24x4x8xf32>, tensor<4x64x4x8xf32>, tensor<4x64x4x8xf32>, tensor<4x1x1x64xi8>)
