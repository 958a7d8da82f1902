context::main!(expiry);
