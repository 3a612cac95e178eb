import { expandTargets } from '../../src/dnsbl/targets.ts'
import { normalizeReply } from '../../src/mailbox/reply/normalize.ts'
import { testBounds, times } from './table.ts'

testBounds([
  ['src/dnsbl/targets.ts MAX_TARGETS', 256, (n) => expandTargets(times(n, (i) => `45.53.${i >> 8}.${i & 255}`)).ok],
  [
    'src/mailbox/reply/normalize.ts MAX_READ',
    4_096,
    (n) => normalizeReply('no such user'.padStart(n)).includes('no such user'),
  ],
])
