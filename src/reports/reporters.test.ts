import { expect, it } from 'vitest'
import { type Authenticity, authenticityOf, type Envelope, type ReportSignature } from './reporters.ts'

const signature = (over: Partial<ReportSignature> = {}): ReportSignature => ({
  ...{ domain: 'google.com', result: 'pass', signsFrom: true, isPartial: false },
  ...over,
})
const envelope = (over: Partial<Envelope> = {}): Envelope => ({
  from: ['google.com'],
  signatures: [signature()],
  isTrusted: false,
  ...over,
})
const AUTHOR = 'noreply-dmarc-support@google.com'

it.each<[string, 'dmarc' | 'tls', string | null, Envelope, Authenticity]>([
  ['a signature of From, which is the author', 'dmarc', AUTHOR, envelope(), true],
  [
    'From below the organizational domain',
    'dmarc',
    'a@dmarc.yahoo.com',
    envelope({ from: ['dmarc.yahoo.com'], signatures: [signature({ domain: 'yahoo.com' })] }),
    true,
  ],
  [
    'an organization that reports for the author',
    'dmarc',
    'a@aol.com',
    envelope({ from: ['yahoo.com'], signatures: [signature({ domain: 'yahoo.com' })] }),
    true,
  ],
  [
    'a signature of somebody else',
    'dmarc',
    AUTHOR,
    envelope({ signatures: [signature({ domain: 'evil.example' })] }),
    false,
  ],
  [
    'From of somebody else, signed',
    'dmarc',
    AUTHOR,
    envelope({ from: ['evil.example'], signatures: [signature({ domain: 'evil.example' })] }),
    false,
  ],
  [
    'a signature that does not cover From',
    'dmarc',
    AUTHOR,
    envelope({ signatures: [signature({ signsFrom: false })] }),
    false,
  ],
  ['a signature with l=', 'dmarc', AUTHOR, envelope({ signatures: [signature({ isPartial: true })] }), false],
  ['two authors in From', 'dmarc', AUTHOR, envelope({ from: ['google.com', 'google.com'] }), false],
  ['no address in the report', 'dmarc', null, envelope(), false],
  [
    'a TLS report by a key for these',
    'tls',
    AUTHOR,
    envelope({ signatures: [signature({ isOfTlsReports: true })] }),
    true,
  ],
  [
    '… which proves no DMARC report',
    'dmarc',
    AUTHOR,
    envelope({ signatures: [signature({ isOfTlsReports: true })] }),
    false,
  ],
  ['a broken signature', 'dmarc', AUTHOR, envelope({ signatures: [signature({ result: 'fail' })] }), false],
  ['no signature', 'dmarc', AUTHOR, envelope({ signatures: [] }), false],
  [
    'a key that is gone, an expired signature',
    'dmarc',
    AUTHOR,
    envelope({ signatures: [signature({ result: 'unknown' })] }),
    null,
  ],
  [
    'a DNS that does not answer',
    'dmarc',
    AUTHOR,
    envelope({ signatures: [signature({ result: 'unanswered' })] }),
    'unanswered',
  ],
  [
    '… beside one that passes',
    'dmarc',
    AUTHOR,
    envelope({ signatures: [signature({ result: 'unanswered' }), signature()] }),
    true,
  ],
  ['a trusted host says dmarc=pass', 'dmarc', AUTHOR, envelope({ signatures: [], isTrusted: true }), true],
  ['… of another From', 'dmarc', AUTHOR, envelope({ from: ['evil.example'], signatures: [], isTrusted: true }), false],
  [
    'a TLS report needs a signature (RFC 8460 §3)',
    'tls',
    'a@google.com',
    envelope({ signatures: [], isTrusted: true }),
    false,
  ],
  ['a signed TLS report', 'tls', 'mailto:a@google.com', envelope(), true],
])('%s', (_, kind, author, given, expected) => expect(authenticityOf(kind, author, given)).toBe(expected))
