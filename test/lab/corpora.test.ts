import { afterEach, expect, it, vi } from 'vitest'
import { skippedNotice } from '../skipped-corpora.ts'
import { corpus, MISSING_NOTES } from './corpora.ts'

afterEach(() => void vi.unstubAllEnvs())

it('missing conformance data is nothing on a machine without it, and an error with CI=true', () => {
  vi.stubEnv(MISSING_NOTES, undefined)
  vi.stubEnv('CI', '')
  expect(corpus('dns/no-such-file.json')).toBeUndefined()
  vi.stubEnv('CI', 'true')
  expect(() => corpus('dns/no-such-file.json')).toThrow('dns/no-such-file.json; set CORPORA')
})

it('names what was skipped, why, and how to run it', () => {
  const notice = skippedNotice('/data', ['dns/fcrdns.json', 'spf/rfc7208.json'])
  expect(notice).toContain('2 public conformance suites')
  expect(notice).toContain('dns/fcrdns.json, spf/rfc7208.json')
  expect(notice).toContain('set CORPORA')
})
