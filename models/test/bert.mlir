// BERT has the parameters of Hugging Face's BertForPreTraining, by name and stored shape.
// RUN: weft-opt %S/../bert/bert.mlir --phase-elaborate="keys=model.graph=train,batch.micro=4,dist.tensor=2,model.set=vocab=256,model.set=seq=64,model.set=positions=80,model.set=layers=2,model.set=heads=4,model.set=hidden=32,model.set=inner=64" | FileCheck %s

// CHECK: weft.graph @train("tokens" %{{.*}}: tensor<4x64xi32>, "types" %{{.*}}: tensor<4x64xi32>, "mask" %[[SEEN:.*]]: tensor<4x64xi8>, "labels" %[[LABELS:.*]]: tensor<4x64xi32>, "next" %[[NEXT:.*]]: tensor<4xi32>)
// CHECK-DAG: weft.parameter "bert.embeddings.word_embeddings.weight" [256, 32] {{.*}} sbp(tensor = S(0))
// CHECK-DAG: weft.parameter "bert.embeddings.position_embeddings.weight" [80, 32]
// CHECK-DAG: weft.parameter "bert.embeddings.token_type_embeddings.weight" [2, 32]
// CHECK-DAG: weft.parameter "bert.embeddings.LayerNorm.bias" [32]
// CHECK-DAG: weft.parameter "bert.encoder.layer.0.attention.self.query.weight" [4, 8, 32] stored [32, 32] {{.*}} sbp(tensor = S(0))
// CHECK-DAG: weft.parameter "bert.encoder.layer.0.attention.self.value.bias" [4, 8] stored [32]
// CHECK-DAG: weft.parameter "bert.encoder.layer.1.attention.output.dense.weight" [32, 4, 8] stored [32, 32] {{.*}} sbp(tensor = S(1))
// CHECK-DAG: weft.parameter "bert.encoder.layer.1.attention.output.LayerNorm.weight" [32]
// CHECK-DAG: weft.parameter "bert.encoder.layer.1.intermediate.dense.weight" [64, 32] {{.*}} sbp(tensor = S(0))
// CHECK-DAG: weft.parameter "bert.encoder.layer.1.output.dense.weight" [32, 64] {{.*}} sbp(tensor = S(1))
// CHECK-DAG: weft.parameter "bert.encoder.layer.1.output.LayerNorm.weight" [32]
// CHECK-DAG: weft.parameter "bert.pooler.dense.weight" [32, 32]
// CHECK-DAG: weft.parameter "cls.predictions.bias" [256]
// CHECK-DAG: weft.parameter "cls.predictions.transform.dense.weight" [32, 32]
// CHECK-DAG: weft.parameter "cls.predictions.transform.LayerNorm.weight" [32]
// CHECK-DAG: weft.parameter "cls.seq_relationship.weight" [2, 32]
// CHECK-DAG: %[[MASK:.*]] = weft.reshape %[[SEEN]] [4, 1, 1, 64]
// CHECK-DAG: weft.attention {{.*}} mask(%[[MASK]])
// CHECK-DAG: weft.cross_entropy %{{.*}}, %[[LABELS]]
// CHECK-DAG: weft.cross_entropy %{{.*}}, %[[NEXT]]
