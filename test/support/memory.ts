import { createHash } from 'node:crypto'
import { mkdirSync, statSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { reachable } from '../../scripts/services/account.ts'
import type { Account } from '../../scripts/services/account.ts'

const memory = '/dev/shm'
/** In bytes: what one run may come to hold many times over. */
const plenty = 3 * 1024 ** 3

/**
 * A folder in memory for what ends with the run, where the machine has plenty of it, or null: a database is two thousand files, and
 * making and dropping one costs a second of a processor on a disk, and a tenth of it in memory.
 * @param root whose folder it is: checkouts do not meet.
 */
export const memoryFor = (root: string, account: Account | null): string | null => {
  const own = createHash('sha256').update(root).digest('hex').slice(0, 12)
  const folder = join(memory, `pousada-${process.getuid?.() ?? 0}-${own}`)
  try {
    const { bavail, bsize } = statfsSync(memory)
    if (bavail * bsize < plenty || process.availableMemory() < plenty) return null
    mkdirSync(folder, { recursive: true, mode: 0o755 })
    return statSync(folder).uid === process.getuid?.() && reachable(folder, account) ? folder : null
  } catch {
    return null
  }
}
