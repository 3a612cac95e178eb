/**
 * Where things stand in the test network. All of 45.53.0.0/16 and 2a02:53::/32 is the lab's; the addresses look public,
 * so that the product's guard against private targets stays on.
 */
export const ROOT_SERVER = '198.41.0.4'
export const TLD_SERVER = '192.5.6.30'
/** The two name servers of every lab domain, in different networks. */
export const LEAF_SERVERS = ['45.53.0.1', '45.54.0.1'] as const
/** A third name server: it has another version of `disagree.test`. */
export const STALE_SERVER = '45.53.0.3'
/** dnsdist, in front of the domains whose name server misbehaves. */
export const FAULTY_SERVER = '45.53.0.10'
/** The name servers of `watched.test`, which tests switch off; the same knot as {@link LEAF_SERVERS}. */
export const WATCHED_SERVERS = ['45.53.0.31', '45.54.0.31'] as const
/** Postfix for submission, and HTTPS receivers of messages; tests start them. */
export const SUBMISSION = '45.53.3.60'
export const RECEIVER = '45.53.6.60'
/** The hosts of `messages.test.ts`: where the program receives messages, the senders, the forwarder, and the list. */
export const MESSAGES = {
  inbound: '45.53.3.81',
  postfix: '45.53.3.82',
  exim: '45.53.3.83',
  forwarder: '45.53.3.84',
  narrow: '45.53.3.85',
  list: '45.53.3.86',
} as const
/** Nothing answers here: what is sent to it is dropped. */
export const DEAD_SERVER = '45.53.0.99'
export const DEAD_HOST = '45.53.7.99'
/** Nothing listens here: a connection is refused at once. */
export const REFUSING_HOST = '45.53.7.98'
/**
 * Named by zones as name servers, and none: what comes here was sent by the program, since the resolver has them on a
 * list of whom not to ask.
 */
export const VICTIM = '45.53.9.53'
export const PRIVATE_HOSTS = ['10.53.0.1', 'fd53::1', '127.0.0.53', '64:ff9b::a35:1'] as const
export const BYSTANDERS = [VICTIM, ...PRIVATE_HOSTS] as const
/** A name server that a test runs itself. */
export const SCRIPTED_SERVER = '45.53.0.20'
export const DROPPED = [DEAD_SERVER, DEAD_HOST] as const

/** unbound, validating, as /etc/resolv.conf has it. */
export const RESOLVER = '127.0.0.1'
/** unbound too, at an address that `withDelay` can move away without moving all of loopback. */
export const FAR_RESOLVER = '45.53.0.53'

/** The records of the archetypes have a root and a resolver of their own (dns/archetypes.ts). */
export const ARCHETYPE_ROOT = '45.53.0.60'
export const ARCHETYPE_RESOLVER = '127.0.0.60'

/** The machine's own public addresses, the first of each family its default source. */
export const SOURCES = {
  allowed: '45.53.1.2',
  /** Refused by `banner.test` and `rcpt.test`. */
  refused: '45.53.1.1',
  /** Has no PTR record. */
  nameless: '45.53.1.3',
  allowed6: '2a02:53:1::2',
  refused6: '2a02:53:1::1',
} as const
/** PTR names of the sources; each resolves back. */
export const SOURCE_NAMES = {
  [SOURCES.allowed]: 'b.sonde.test',
  [SOURCES.refused]: 'a.sonde.test',
  [SOURCES.allowed6]: 'b.sonde.test',
  [SOURCES.refused6]: 'a.sonde.test',
} as const

/** The server of the n-th blacklist, counted from 0. */
export const listServer = (n: number): string => `45.53.4.${n + 1}`

/** Where the lab keeps its files: a tmpfs that lives and dies with the private network. */
export const STATE = '/run/lab'
export const CA_FILE = `${STATE}/ca.pem`
/** The reverse zones of the lab's addresses. */
export const POINTER_ZONES = ['53.45.in-addr.arpa', '54.45.in-addr.arpa', '3.5.0.0.2.0.a.2.ip6.arpa'] as const
