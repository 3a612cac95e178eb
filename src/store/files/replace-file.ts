import { randomBytes } from 'node:crypto'
import { open, readdir, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Replaces the file by `text`, completely or not at all: the text is written to a new file of mode 0600, which then gets the name. The new file has a random
 * name and is opened with O_EXCL, so that no link is followed. `durable`: it is on the disk before it gets the name. `mayReplace` is called last. Rejects
 * with the error of the file system; false if it may not.
 */
export async function replaceFile(
  path: string,
  text: string,
  { durable, mayReplace }: { readonly durable: boolean; readonly mayReplace: () => Promise<boolean> },
): Promise<boolean> {
  const next = `${path}.${randomBytes(8).toString('hex')}.new`
  const file = await open(next, 'wx', 0o600)
  try {
    await file.writeFile(text)
    if (durable) await file.sync()
  } catch (error) {
    await file.close()
    await unlink(next).catch(() => {})
    throw error
  }
  await file.close()
  const may = await mayReplace()
  if (may) await rename(next, path)
  else await unlink(next)
  return may
}

/** Removes temporary files of {@link replaceFile} that killed processes left behind. The caller holds the lock of `path`. */
export async function sweep(path: string): Promise<void> {
  const [folder, name] = [dirname(path), basename(path)]
  for (const file of await readdir(folder).catch(() => []))
    if (file.startsWith(`${name}.`) && /\.[0-9a-f]{16}\.new$/.test(file))
      await unlink(join(folder, file)).catch(() => {})
}
