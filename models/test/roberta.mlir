// RoBERTa has the parameters of Hugging Face's RobertaForMaskedLM, by name and stored shape.
// RUN: weft-opt %S/../roberta/roberta.mlir --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.tensor=2,model.set=vocab=256,model.set=seq=64,model.set=positions=66,model.set=layers=2,model.set=heads=4,model.set=hidden=32,model.set=inner=64" | FileCheck %s

// CHECK: weft.graph @train("tokens" %{{.*}}: tensor<4x64xi32>, "mask" %{{.*}}: tensor<4x64xi8>, "labels" %{{.*}}: tensor<4x64xi32>)
// CHECK-DAG: weft.parameter "roberta.embeddings.word_embeddings.weight" [256, 32]
// CHECK-DAG: weft.parameter "roberta.embeddings.token_type_embeddings.weight" [1, 32]
// CHECK-DAG: %[[PLACES:.*]] = weft.parameter "roberta.embeddings.position_embeddings.weight" [66, 32]
// CHECK-DAG: weft.slice %[[PLACES]] dim(0) from(2) size(64)
// CHECK-DAG: weft.parameter "roberta.embeddings.LayerNorm.weight" [32]
// CHECK-DAG: weft.parameter "roberta.encoder.layer.1.attention.self.key.weight" [4, 8, 32] stored [32, 32]
// CHECK-DAG: weft.parameter "roberta.encoder.layer.1.output.dense.bias" [32]
// CHECK-DAG: weft.parameter "lm_head.bias" [256] {{.*}} sbp(tensor = S(0))
// CHECK-DAG: weft.parameter "lm_head.dense.weight" [32, 32]
// CHECK-DAG: weft.parameter "lm_head.layer_norm.weight" [32]
