//! Acts on sockets.

use crate::{Act, Found, errno};
use nix::errno::Errno;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixStream};
use std::time::Duration;

/// How long an answer may take; nothing leaves the machine.
const PATIENCE: Duration = Duration::from_secs(3);

pub fn attempt(name: &str, act: &Act) -> Option<Found> {
    let address = || -> SocketAddr { act.text("address").parse().expect("IP:PORT") };
    let done = match name {
        "tcp" => TcpStream::connect_timeout(&address(), PATIENCE).map(drop),
        "udp" => udp(address()),
        "route" => UdpSocket::bind(("0.0.0.0", 0)).and_then(|socket| socket.connect(address())),
        "unix" => UnixStream::connect(act.text("path")).map(drop),
        "abstract" => UnixAddr::from_abstract_name(act.text("name"))
            .and_then(|address| UnixStream::connect_addr(&address))
            .map(drop),
        "loopback" => loopback(),
        "pair" => UnixStream::pair().and_then(|(mut one, mut other)| {
            one.write_all(b"x")?;
            other.read_exact(&mut [0])
        }),
        _ => return None,
    };
    Some(done.map(|()| Value::Null).map_err(|error| match error.kind() {
        std::io::ErrorKind::TimedOut => Errno::ETIMEDOUT,
        _ => errno(&error),
    }))
}

/// Sends a datagram and waits for one back.
fn udp(address: SocketAddr) -> std::io::Result<()> {
    let socket = UdpSocket::bind(("127.0.0.1", 0))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.connect(address)?;
    socket.send(b"x")?;
    socket.recv(&mut [0]).map(drop)
}

/// A connection of the probe with itself.
fn loopback() -> std::io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let mut there = TcpStream::connect_timeout(&listener.local_addr()?, PATIENCE)?;
    there.write_all(b"x")?;
    listener.accept()?.0.read_exact(&mut [0])
}
