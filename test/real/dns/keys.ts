/**
 * Public halves of DKIM keys, as the `p=` of a record (RFC 6376 §3.6.1, RFC 8463 §4.2); nobody has the private halves.
 */
export const RSA_2048 =
  'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA0oJjmkHAbtRMnnsk8q7L6qKtsE9qY3S5dI94AxQzMs5sDe9clUL8ZusEYj096jVpWzBmuWAFACbxMgBqWr5zv4KlhkNx7Rl25t1BxOS7uOmvAYCjlY0T4jTovZ0c0SgFCX3WIFCsECJRI3jppfMdaRdUjwGVYhqsJFAEhqTx/HLYw/kQuR4tKjB3JxvlGzmiUaHdoJVaiZfQoAqhuFM3aVVI50JcSxatqoUhElDbjCm6e1MhfkHUGVY+hbNMMMDdOHfut/Zf/Nojr4KiNjSTdviwZzLlkmzSKOo+gg/Z2DKb05SKcnXs2WI+DmycvV6APZ1d8xpBuiUJJ2ktoILgHQIDAQAB'
export const RSA_1024 =
  'MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCk7WPPeiRthYcK4xrS42iTgUcO6BKK77z0yaMvMvWz01SVJ/skik66Ijwdm+qddYcGzYtO15jLM0PVDe/IGCI1S94lMKUqwpckoJB1c5NhjWWc9X2FDW4ghTdYHKIfwAenVgTPWZPDrLBrooejV5Hn0HAtVOGDWlYyiYFA6H1xfwIDAQAB'
export const ED25519 = 'Wrc63Fs/gVydET6bqfBpwSnNbusp7wurDpTvptzNZXE='
/**
 * An RSA key of 16,384 bits: SubjectPublicKeyInfo around a number of that size (RFC 8017 §A.1.1); a reader need not
 * know whether it is a product of primes.
 */
export const LONG_KEY = Buffer.from(
  `30820822300d06092a864886f70d01010105000382080f003082080a0282080100${'c3'.repeat(2_048)}0203010001`,
  'hex',
).toString('base64')
