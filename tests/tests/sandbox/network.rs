//! Networks and sockets.

use serde_json::{Value, json};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use toolcell_tests::cage::Cage;
use toolcell_tests::{for_both, needs};

/// A socket that is listened to, for everybody, until the test is over. Nobody has to accept: a full handshake is in
/// the kernel.
fn listen_at(path: &Path) -> UnixListener {
    use std::os::unix::fs::PermissionsExt;
    let listener = UnixListener::bind(path).expect("a socket can be made");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).expect("the mode can be set");
    listener
}

/// The probe by `exec`, with the caller's folder at /work.
fn by_exec(cage: &Cage, profile: &str, act: &Value) -> Value {
    let args = ["exec", "--profile", profile, "--stdin", "-", "--stdout", "json", "--", "probe"];
    cage.scene.toolcell(&args, act.to_string().as_bytes()).output()
}

for_both! {
    fn a_tcp_listener_of_the_host_is_out_of_reach(cage: &Cage) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback");
        let address = listener.local_addr().expect("an address").to_string();
        cage.denied(&json!({"try": "tcp", "address": address}), "ECONNREFUSED");
        assert_eq!(cage.result("network", &json!({"try": "tcp", "address": address})), "ok");
    }

    fn a_udp_listener_of_the_host_is_out_of_reach(cage: &Cage) {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).expect("loopback");
        socket.set_read_timeout(Some(Duration::from_millis(100))).expect("a timeout");
        let address = socket.local_addr().expect("an address").to_string();
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        let echo = std::thread::spawn(move || {
            let mut heard = 0;
            while !told.load(Ordering::Relaxed) {
                if let Ok((_, from)) = socket.recv_from(&mut [0; 8]) {
                    heard += 1;
                    let _ = socket.send_to(b"y", from);
                }
            }
            heard
        });
        let act = json!({"try": "udp", "address": address});
        let found = [cage.result("open", &act), cage.result("strict", &act), cage.result("standard", &act)];
        over.store(true, Ordering::Relaxed);
        let heard = echo.join().expect("the echo ends");
        assert_eq!(found, ["ok", "ECONNREFUSED", "ECONNREFUSED"]);
        assert_eq!(heard, 1, "only the control's datagram has come");
    }

    fn there_is_no_route_out(cage: &Cage) {
        let act = json!({"try": "route", "address": "192.0.2.1:9"});
        assert_eq!(cage.result("strict", &act), "ENETUNREACH");
        needs!(cage.result("open", &act) == "ok", "this host has no default route for a control");
    }

    fn loopback_and_socket_pairs_work_inside(cage: &Cage) {
        for profile in ["strict", "standard"] {
            assert_eq!(cage.result(profile, &json!({"try": "loopback"})), "ok");
            assert_eq!(cage.result(profile, &json!({"try": "pair"})), "ok");
        }
    }

    fn a_path_socket_of_the_host_is_out_of_reach(cage: &Cage) {
        let path = cage.scene.path().join("state/listen.sock");
        let _listener = listen_at(&path);
        cage.denied(&json!({"try": "unix", "path": path}), "ENOENT");
    }

    fn an_abstract_socket_of_the_host_is_out_of_reach(cage: &Cage) {
        let name = format!("toolcell-test-{}-{:?}", std::process::id(), cage.who);
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let _listener = UnixListener::bind_addr(&address).expect("a socket can be made");
        cage.denied(&json!({"try": "abstract", "name": name}), "ECONNREFUSED");
    }

    fn with_the_hosts_network_its_abstract_sockets_stay_out_of_reach(cage: &Cage) {
        let name = format!("toolcell-net-{}-{:?}", std::process::id(), cage.who);
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let _listener = UnixListener::bind_addr(&address).expect("a socket can be made");
        cage.denied_unlike("open", "network", &json!({"try": "abstract", "name": name}), "EPERM");
    }

    fn a_socket_in_the_callers_folder_is_out_of_reach_of_exec(cage: &Cage) {
        let _listener = listen_at(&cage.scene.work().join("listen.sock"));
        let act = json!({"try": "unix", "path": "listen.sock"});
        for control in ["open", "standard-no-seccomp"] {
            assert_eq!(by_exec(cage, control, &act)["result"], "ok", "the control under {control}");
        }
        assert_eq!(by_exec(cage, "standard", &act)["result"], "EAFNOSUPPORT");
        assert_eq!(by_exec(cage, "standard", &json!({"try": "pair"}))["result"], "ok");
    }

    fn a_socket_in_the_workspace_is_out_of_reach(cage: &Cage) {
        let folder = cage.scene.path().join("shared");
        std::fs::create_dir(&folder).expect("a folder");
        let _listener = listen_at(&folder.join("listen.sock"));
        let folder = folder.to_string_lossy();
        let flags = ["--profile", "workspace", "--workspace", &folder];
        let answer = cage.scene.run("probe", &json!({"try": "unix", "path": "/work/listen.sock"}), &flags);
        assert_eq!(answer.output()["result"], "EAFNOSUPPORT");
        assert_eq!(cage.result("open", &json!({"try": "unix", "path": format!("{folder}/listen.sock")})), "ok");
    }

    fn a_socket_in_a_folder_given_as_input_is_out_of_reach(cage: &Cage) {
        let _listener = listen_at(&cage.scene.work().join("given.sock"));
        cage.scene.capability("reader", &json!({}), "command = [\"probe\"]\nprofile = \"strict\"\n[files]\nin = [\"/folder\"]\n");
        let run = |act: &str, path: &str| {
            cage.scene.run("reader", &json!({"try": act, "path": path, "folder": "../work"}), &[]).output()
        };
        let names = run("list", "/in/0/work")["names"].clone();
        assert_eq!(names, json!(["given.sock"]), "the control: the socket is there to be seen");
        assert_eq!(run("unix", "/in/0/work/given.sock")["result"], "EAFNOSUPPORT");
        let open = json!({"try": "unix", "path": cage.scene.work().join("given.sock")});
        assert_eq!(cage.result("open", &open), "ok", "the control");
    }
}
