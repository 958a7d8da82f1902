context::main!(admission);
