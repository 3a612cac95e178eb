import { expect, it } from 'vitest'
import type { LabNode } from '../../test/lab/dns.ts'
import { labCtx } from '../../test/lab/world.ts'
import { dkim } from '../checks/dkim/index.ts'
import { runCheck } from '../checks/run.ts'
import { domain } from '../names/domain.ts'
import { fromDkim } from './dkim-input.ts'

const KEY = 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='
const REVOKED = 'v=DKIM1; p='

/** What the selectors `one` and `two` hold, and what the score is given. */
it.each<[one: LabNode | 'SERVFAIL', two: LabNode | 'SERVFAIL', given: object]>([
  [{ TXT: [KEY] }, { TXT: [KEY] }, { state: 'found', isOpen: false }],
  [{ TXT: [KEY] }, 'SERVFAIL', { state: 'found', isOpen: true }],
  [{ TXT: [REVOKED] }, { TXT: [REVOKED] }, { state: 'broken', finding: 'dkim.only_revoked' }],
  [{ TXT: [REVOKED] }, 'SERVFAIL', { state: 'unknown', finding: 'dkim.not_asked' }], // one question is open
])('%j and %j', async (one, two, given) => {
  const zone = { 'one._domainkey.a.example': one, 'two._domainkey.a.example': two }
  const outcome = await runCheck(dkim, labCtx(zone), domain('a.example'), { selectors: ['one', 'two'] })
  expect(fromDkim(outcome)).toMatchObject(given)
})
