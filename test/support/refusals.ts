import { ApiError } from '../../config/errors.ts'

/** The error with which the work was refused. Throws where it was not refused. */
export const refusal = async (work: Promise<unknown>): Promise<ApiError> => {
  try {
    await work
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('it was not refused')
}

/** The outcome of each promise: `held`, or the code with which it was refused. */
export const outcomes = async (work: Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(work)).map((result) => {
    if (result.status === 'fulfilled') return 'held'
    if (result.reason instanceof ApiError) return result.reason.code
    throw result.reason
  })

/** Counts how often each is there. */
export const tally = (list: string[]) =>
  Object.fromEntries([...new Set(list)].sort().map((one) => [one, list.filter((each) => each === one).length]))
