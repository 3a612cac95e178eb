import { execFile } from 'node:child_process'
import { expect, it } from 'vitest'
import { CA_FILE } from '../addresses.ts'

const curl = (domain: string, ...more: readonly string[]) =>
  new Promise<string>((resolve) => {
    const url = `https://mta-sts.${domain}/.well-known/mta-sts.txt`
    const args = [
      '-s',
      '--cacert',
      CA_FILE,
      '-m',
      '3',
      '-o',
      '/dev/null',
      '-w',
      '%{exitcode} %{http_code} %{size_download}',
      ...more,
      url,
    ]
    execFile('curl', args, (_, out) => resolve(out))
  })

it.each([
  ['stsgood.test', '0 200 68'],
  ['stswrongname.test', '60 000 0'],
  ['stsexpired.test', '60 000 0'],
  ['stsself.test', '60 000 0'],
  ['stsredirect.test', '0 302 0'],
  ['stsmissing.test', '0 404 9'],
])('%s: %s', async (domain, seen) => expect(await curl(domain)).toBe(seen))

it('stsbig.test is 10 MB', async () => expect(await curl('stsbig.test')).toMatch(/^0 200 1\d{7}$/))
it('stsbomb.test is small on the wire', async () => expect(await curl('stsbomb.test')).toMatch(/^0 200 \d{5,6}$/))
it('stsdrip.test takes its time', async () => expect(await curl('stsdrip.test')).toMatch(/^28 200 [1-3]$/))
