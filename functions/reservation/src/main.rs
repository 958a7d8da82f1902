context::main!(reservation);
