import { expect, it } from 'vitest'
import { keyTitle } from './words.ts'

it.each([
  ['dkim.proven_absent', 'Sign with DKIM'],
  ['dkim.none_found', 'Sign with DKIM, or give its selector'],
  ['dkim.short_key', 'Sign with a longer DKIM key'],
  ['dkim.only_revoked', 'Sign with a new DKIM key'],
  ['dkim.ed25519_only', 'Sign with an RSA key too'],
])('a domain that signs already is not told to begin: %s', (id, title) => expect(keyTitle(id)).toBe(title))
