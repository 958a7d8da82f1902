context::main!(warmup);
