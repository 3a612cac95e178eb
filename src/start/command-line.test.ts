import { afterEach, expect, it, vi } from 'vitest'
import { commandLine } from './command-line.ts'

afterEach(() => vi.restoreAllMocks())

it.each<[string, readonly string[]]>([
  ['a value', ['check', 'a\u202eb\u009bc\u200bd']],
  ['a flag that is not known', ['check', 'a.example', '--x\u202e\u009b31m']],
  ['a command that is not known', ['\u061cche\u{e0041}ck']],
  ['a choice', ['check', 'a.example', '--format', 'j\u009b\u202e']],
  ['an option of the configuration', ['config', '--port', '8\ufeff\u009b']],
])('writes no character that steers a terminal: %s', async (_, argv) => {
  let written = ''
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((written += String(text))))
  expect(await commandLine(argv)).toBe(2)
  expect(written).not.toBe('')
  expect(written.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]|[\u{e0000}-\u{e0fff}]/u)
})
