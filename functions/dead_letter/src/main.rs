context::main!(dead_letter);
