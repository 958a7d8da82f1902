context::main!(websocket);
