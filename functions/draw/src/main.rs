context::main!(draw);
