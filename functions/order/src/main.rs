context::main!(order);
