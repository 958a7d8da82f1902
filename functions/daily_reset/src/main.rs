context::main!(daily_reset);
