context::main!(winners);
