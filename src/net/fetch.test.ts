import { expect, it } from 'vitest'
import { type FetchReason, fetchError, isTheirs } from './fetch.ts'

const errno = (code: string): Error => Object.assign(new Error(code), { code })

it.each<[code: string, reason: FetchReason, theirs: boolean]>([
  ['ECONNREFUSED', 'connect', false],
  ['EMFILE', 'connect', false], // no descriptors of ours are no fault of the policy host
  ['ENFILE', 'connect', false],
  ['ENOBUFS', 'connect', false],
  ['ENOMEM', 'connect', false],
  ['UND_ERR_BODY_TIMEOUT', 'timeout', false],
  ['CERT_HAS_EXPIRED', 'certificate', true],
  ['HPE_INVALID_CONSTANT', 'protocol', true],
])('%s is %s', (code, reason, theirs) => {
  const error = fetchError(errno(code), new AbortController().signal)
  expect([error.reason, isTheirs(error)]).toEqual([reason, theirs])
})

it.each([
  ['connect ECONNREFUSED 192.0.2.1:443', 'ECONNREFUSED', 'the connection was refused (ECONNREFUSED)'],
  ['Connect Timeout Error', 'UND_ERR_CONNECT_TIMEOUT', 'there was no answer in time (UND_ERR_CONNECT_TIMEOUT)'],
  [
    'unable to verify the first certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'the chain of the certificate is not complete, or its authority is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
  ],
  ['unheard of; if the moon is full, try running Node.js', 'ERR_TLS_ODD', 'unheard of (ERR_TLS_ODD)'],
])('%s, %s: our words, the code once, no hint for programmers', (message, code, expected) => {
  const fault = Object.assign(new Error(message), { code })
  expect(fetchError(fault, new AbortController().signal).message).toBe(expected)
})

it('a fault that is none of the network goes up', () => {
  const fault = new TypeError('a bug')
  expect(() => fetchError(fault, new AbortController().signal)).toThrow(fault)
})
