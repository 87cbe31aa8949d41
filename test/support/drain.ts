import type { Ran, RunDueOptions } from '../../workers/lib/run-due.ts'

export type Drained = Ran

/** Hands every due job to its processor in this process until none is due. The processors are loaded when they are first needed. */
export const drain = async (options: RunDueOptions = {}): Promise<Drained[]> => {
  const { runDue } = await import('../../workers/lib/run-due.ts')
  return runDue(options)
}
