context::main!(admin);
