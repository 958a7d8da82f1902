context::main!(notifier);
