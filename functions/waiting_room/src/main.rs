context::main!(waiting_room);
