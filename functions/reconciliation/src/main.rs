context::main!(reconciliation);
