import { type Problem, problemsOf, quoted, shown } from '../base/problem.ts'

type Text = { text: string }
type Max = { max: number }
type Host = { host: string }
type Proxy = { proxy: string }

/** The first 200 characters of a URL. */
const address = (url: string): string => quoted(url.slice(0, 200), 200)

/** Why there is no HTTP answer. */
export const fetchProblem = problemsOf('fetch', {
  not_url: ({ text }: Text) => `${address(text)} is not a URL`,
  not_https: ({ text }: Text) => `${address(text)} is not an https URL`,
  not_http: ({ text }: Text) => `${address(text)} is not an http or https URL`,
  login: ({ text }: Text) => `${address(text)} contains a user name or password`,
  port: ({ port }: { port: number }) => `port ${port} is not allowed`,
  redirects: ({ max }: Max) => `more than ${max} redirects`,
  no_address: ({ host }: Host) => `${shown(host, 255)} has no address`,
  private_address: ({ host }: Host) =>
    `${shown(host, 255)} has private or reserved addresses, to which no connection is made`,
  not_secure: ({ origin }: { origin: string }) => `${shown(origin, 300)} is not HTTPS`,
  plain_peer: ({ origin }: { origin: string }) =>
    `${shown(origin, 300)} is not HTTPS; to allow it, set its network with --allow-network`,
  encoding: ({ text }: Text) => `the body has an unrequested encoding (${shown(text, 40)})`,
  too_large: ({ max }: Max) => `more than ${max} bytes`,
  not_json: () => 'the answer is not JSON',
  nested: ({ max }: { max: number }) => `the answer is nested more than ${max} levels deep`,
  not_http_answer: () => 'the answer is not HTTP/1.1',
  timeout: () => 'no complete answer in time',
  aborted: () => 'the client disconnected',
  /** What the system says, in our words where there are some. */
  system: ({ words }: { words: string }) => shown(words),
})

/** Why there is no connection, or why it ended. */
export const dialProblem = problemsOf('dial', {
  refused: () => 'the connection was refused',
  timed_out: () => 'the connection timed out',
  reset: () => 'the server reset the connection',
  ended: () => 'the server closed the connection',
  source: () => 'the source address cannot be used on this machine',
  network: ({ code }: { code: string }) => `network error (${shown(code)})`,
  tls: ({ code }: { code: string }) => `the TLS handshake failed (${shown(code)})`,
  timeout: () => 'no answer in time',
  aborted: () => 'the client disconnected',
  closed: () => 'the connection is closed',
  private_address: ({ address }: { address: string }) =>
    `${shown(address, 60)} is a private or reserved address, to which no connection is made`,
  early_data: () => 'the server sent data between STARTTLS and the TLS handshake',
  no_proxy: ({ proxy }: Proxy) => `no proxy ${shown(proxy)} is configured`,
  /** `why` is a problem of {@link proxyProblem}, which begins with a verb. */
  proxy: ({ proxy, why }: Proxy & { why: Problem }, say) => `the proxy ${shown(proxy)} ${say(why)}`,
  proxy_unusable: ({ proxy, why }: Proxy & { why: Problem }, say) => `the proxy ${shown(proxy)}: ${say(why)}`,
})

/** What a proxy does or does not, as text after its name. */
export const proxyProblem = problemsOf('proxy', {
  unreachable: ({ code }: { code: string }) => `cannot be reached (${shown(code)})`,
  unknown_host: () => 'cannot be looked up',
  not_in_pool: () => 'is not in the pool',
  late: () => 'does not answer in time',
  silent: () => 'does not answer',
  login: () => 'refuses the login',
  not_allowed: () => 'does not allow the connection',
  not_supported: () => 'does not support the connection',
  closed: () => 'closed the connection',
  not_socks: () => 'does not speak SOCKS5',
  no_route: () => 'has no route to the network of the target',
  no_target: () => 'cannot reach the target',
  target_refused: () => 'was refused by the target',
  target_failed: () => 'could not connect to the target',
  target_silent: () => 'got no answer from the target',
})

/** Why a proxy is not used: what is known about it. */
export const proxyFault = problemsOf('proxy_fault', {
  lies: ({ address }: { address: string }) =>
    `it claims to reach ${shown(address, 60)}, an address that does not exist, so its connections cannot be trusted`,
  no_exit: () => 'its outgoing address could not be determined',
})

/** Why the input of a session is not SMTP, or has ended. */
export const smtpProblem = problemsOf('smtp', {
  not_reply: ({ text }: { text: string }) => `not an SMTP reply: ${JSON.stringify(shown(text, 80))}`,
  code_changed: ({ expected, received }: { expected: number; received: number }) =>
    `the code changed from ${expected} to ${received} within one reply`,
  long_reply: () => 'a reply longer than 64 KiB',
  unexpected: () => 'an unexpected reply',
  closed: () => 'the server closed the connection',
})
