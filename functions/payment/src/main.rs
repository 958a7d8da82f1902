context::main!(payment);
