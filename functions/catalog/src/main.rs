context::main!(catalog);
