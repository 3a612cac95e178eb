import { parseResolvConf } from '../../src/net/dns/system.ts'
import { parseZone } from '../../src/net/dns/zone-text.ts'
import { replyReader } from '../../src/net/smtp/reply.ts'
import { transcript } from '../../src/net/smtp/transcript.ts'
import { testBounds, text, times } from './table.ts'

testBounds([
  [
    'src/net/dns/system.ts MAX_SERVERS',
    8,
    (n) => parseResolvConf(times(n, (i) => `nameserver 192.0.2.${i + 1}`).join('\n')).servers.length === n,
  ],
  ['src/net/dns/zone-text.ts MAX_LENGTH', 1 << 20, (n) => parseZone('@ A 192.0.2.1\n'.padEnd(n), 'a.example').ok],
  [
    'src/net/dns/zone-text.ts MAX_RECORDS',
    10_000,
    (n) => parseZone(times(n, (i) => `n${i} A 192.0.2.1`).join('\n'), 'a.example').ok,
  ],
  [
    'src/net/smtp/reply.ts MAX_REPLY',
    64 * 1024,
    (n) => !JSON.stringify(replyReader().feed(Buffer.from(`250-${text(n - 4)}`))).includes('64 KiB'),
  ],
  [
    'src/net/smtp/transcript.ts MAX_LINES',
    300,
    (n) => {
      const lines = transcript(() => 0)
      for (let i = 0; i < n; i++) lines.add('server', '250 ok')
      return lines.lines().every(({ from }) => from === 'server')
    },
  ],
])
