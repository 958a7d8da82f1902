use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net};
use serde_with::{DeserializeFromStr, SerializeDisplay};

/// The shortest prefix of an IPv4 network: 65,536 addresses, a provider's. A typo must not block the whole world.
pub const MIN_IPV4_PREFIX: u8 = 16;
/// The shortest prefix of an IPv6 network: what a provider usually has.
pub const MIN_IPV6_PREFIX: u8 = 32;
/// The prefix length of an IPv4 address that is mapped to IPv6.
const MAPPED_PREFIX: u8 = 96;

/// A network of addresses, or a single address: `192.0.2.0/24`, `2001:db8::/48`, `192.0.2.7`. Addresses are canonical
/// ([`IpAddr::to_canonical`]), and the bits after the prefix are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, SerializeDisplay, DeserializeFromStr)]
pub struct Network(IpNet);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidNetwork {
    #[error("an IPv4 or IPv6 address, or a network as ADDRESS/PREFIX")]
    Form,
    #[error("the prefix must be at least /{MIN_IPV4_PREFIX} of IPv4 and /{MIN_IPV6_PREFIX} of IPv6")]
    Prefix,
}

impl Network {
    /// Whether the address is in it. `address` must be canonical: an IPv4 address not mapped to IPv6.
    pub fn contains(self, address: &IpAddr) -> bool {
        self.0.contains(address)
    }

    pub fn is_address(self) -> bool {
        self.0.prefix_len() == self.0.max_prefix_len()
    }
}

impl FromStr for Network {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        let mut network = match text.parse::<IpAddr>() {
            Ok(address) => IpNet::from(address),
            Err(_) => text.parse::<IpNet>().map_err(|_| InvalidNetwork::Form)?,
        };
        if let IpNet::V6(of_six) = network
            && let Some(address) = of_six.addr().to_ipv4_mapped()
            && let Some(prefix) = of_six.prefix_len().checked_sub(MAPPED_PREFIX)
        {
            network = IpNet::V4(Ipv4Net::new(address, prefix).map_err(|_| InvalidNetwork::Form)?);
        }
        let shortest = if matches!(network, IpNet::V4(_)) { MIN_IPV4_PREFIX } else { MIN_IPV6_PREFIX };
        if network.prefix_len() < shortest { Err(InvalidNetwork::Prefix) } else { Ok(Self(network.trunc())) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_address() { self.0.addr().fmt(f) } else { self.0.fmt(f) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_addresses_have_one_form() {
        for (text, form) in [
            ("192.0.2.7", "192.0.2.7"),
            ("192.0.2.7/32", "192.0.2.7"),
            ("192.0.2.7/24", "192.0.2.0/24"),
            ("192.0.2.0/16", "192.0.0.0/16"),
            ("2001:DB8::1", "2001:db8::1"),
            ("2001:db8:1:2:3:4:5:6/64", "2001:db8:1:2::/64"),
            ("2001:db8::/32", "2001:db8::/32"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7/120", "192.0.2.0/24"),
            ("::ffff:192.0.2.7/95", "::fffe:0:0/95"),
        ] {
            let network: Network = text.parse().unwrap();
            assert_eq!(network.to_string(), form);
            assert_eq!(form.parse(), Ok(network));
        }
    }

    #[test]
    fn nobody_names_the_world() {
        for large in
            ["0.0.0.0/0", "10.0.0.0/8", "192.0.2.0/15", "::/0", "2001:db8::/31", "::ffff:0:0/96", "::ffff:10.0.0.0/104"]
        {
            assert_eq!(large.parse::<Network>(), Err(InvalidNetwork::Prefix), "{large}");
        }
        for other in [
            "",
            "alice",
            "192.0.2",
            "192.0.2.0/33",
            "192.0.2.0/-1",
            "192.0.2.0/",
            "/24",
            "2001:db8::/129",
            " 192.0.2.7",
            "192.0.2.07",
        ] {
            assert_eq!(other.parse::<Network>(), Err(InvalidNetwork::Form), "{other:?}");
        }
    }

    #[test]
    fn a_network_has_its_addresses_and_no_others() {
        for (network, address, is_in) in [
            ("192.0.2.0/24", "192.0.2.255", true),
            ("192.0.2.0/24", "192.0.3.0", false),
            ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7", "192.0.2.8", false),
            ("2001:db8::/48", "2001:db8::ffff", true),
            ("2001:db8::/48", "2001:db8:1::", false),
            ("2001:db8::/48", "192.0.2.7", false),
            ("192.0.2.0/24", "2001:db8::1", false),
        ] {
            let network: Network = network.parse().unwrap();
            assert_eq!(network.contains(&address.parse().unwrap()), is_in, "{network} {address}");
        }
    }
}
