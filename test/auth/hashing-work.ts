import { compareNow, inTurn } from '../../db/auth/hashing.ts'
import type { PasswordHash } from '../../db/auth/hashing.ts'
import { leastHashing, settings } from '../../config/env.ts'
import { registry } from '../../config/metrics.ts'

type Work = { store: number; compare: number }

const totals = async (): Promise<Work> => {
  const metric = await registry.getSingleMetric('password_hashes_total')?.get()
  const of = (purpose: string) => metric?.values.find(({ labels }) => labels.purpose === purpose)?.value ?? 0
  return { store: of('store'), compare: of('compare') }
}

/** Counts the passwords that were hashed while `work` ran: equal work takes equal time, on whatever machine. */
export const hashesOf = async (work: () => Promise<unknown>): Promise<Work> => {
  const before = await totals()
  await work()
  const after = await totals()
  return { store: after.store - before.store, compare: after.compare - before.compare }
}

/** Tells whether a password is that of a hash, in its turn. */
export const verifies = (password: string, stored: PasswordHash | null): Promise<boolean> =>
  inTurn(() => compareNow(password, stored))

/** Passwords are hashed at the cost of production in the tests of the surrounding `describe`. */
export const hashAsInProduction = () => {
  const { passwordMemoryKib, passwordPasses } = settings
  before(() => {
    settings.passwordMemoryKib = leastHashing.memoryKib
    settings.passwordPasses = leastHashing.passes
  })
  after(() => void Object.assign(settings, { passwordMemoryKib, passwordPasses }))
}
