context::main!(webhook);
