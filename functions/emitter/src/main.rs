context::main!(emitter);
