use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// Reads one value of the Redis protocol. Bytes after it stay in `buffer`.
pub(crate) async fn read_value(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    loop {
        if let Some(length) = length_of_value(buffer) {
            return Some(buffer.drain(..length).collect());
        }
        stream.read_buf(buffer).await.ok().filter(|length| *length > 0)?;
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
