use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A connection that carries values of the Redis protocol.
pub(crate) struct Connection {
    stream: TcpStream,
    /// What has come after the last value.
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) const fn new(stream: TcpStream) -> Self {
        Self { stream, buffer: Vec::new() }
    }

    pub(crate) async fn read(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(length) = length_of_value(&self.buffer) {
                return Some(self.buffer.drain(..length).collect());
            }
            self.stream.read_buf(&mut self.buffer).await.ok().filter(|length| *length > 0)?;
        }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Option<()> {
        self.stream.write_all(bytes).await.ok()
    }

    pub(crate) async fn ask(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        self.write(command).await?;
        self.read().await
    }
}

/// The length of the value at the start of `bytes`, if it is complete.
pub(crate) fn length_of_value(bytes: &[u8]) -> Option<usize> {
    let line = bytes.windows(2).position(|pair| pair == b"\r\n")? + 2;
    // A null value (`$-1`) ends with its line.
    let size = || std::str::from_utf8(&bytes[1..line - 2]).ok()?.parse::<isize>().ok();
    match bytes[0] {
        b'$' | b'=' | b'!' => {
            let end = usize::try_from(size()?).map_or(line, |size| line + size + 2);
            (bytes.len() >= end).then_some(end)
        }
        kind @ (b'*' | b'~' | b'%') => {
            let members = usize::try_from(size()?).unwrap_or(0) * if kind == b'%' { 2 } else { 1 };
            (0..members).try_fold(line, |at, _| Some(at + length_of_value(&bytes[at..])?))
        }
        _ => Some(line),
    }
}
