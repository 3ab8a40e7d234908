model.layer @broken(%x) {
  %y = weft.tanhh %x
}
