import { ApiError } from '../../config/errors.ts'
import { nativeError } from '../lib/connection.ts'

/** A lock that is not had within its time: 409 `receivable_busy`, so that the caller repeats the request. */
export const locking = async <Result>(work: Promise<Result>): Promise<Result> => {
  try {
    return await work
  } catch (error) {
    const native = nativeError(error)
    if (!(native instanceof Error && 'code' in native && native.code === '55P03')) throw error
    throw new ApiError('receivable_busy', 'The document is in use; repeat the request', {
      cause: error,
      retryAfterSeconds: 1,
    })
  }
}
