import { ApiError } from '../../config/errors.ts'

/** What the work was refused with. */
export const refusal = async (work: Promise<unknown>): Promise<ApiError> => {
  try {
    await work
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('it was not refused')
}

/** What came of each, by its code where it was refused; `held` where it was not. */
export const outcomes = async (work: Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(work)).map((result) => {
    if (result.status === 'fulfilled') return 'held'
    if (result.reason instanceof ApiError) return result.reason.code
    throw result.reason
  })

/** How often each is there. */
export const tally = (list: string[]) =>
  Object.fromEntries([...new Set(list)].sort().map((one) => [one, list.filter((each) => each === one).length]))
