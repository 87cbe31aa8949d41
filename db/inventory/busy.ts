import { ApiError } from '../../config/errors.ts'
import { nativeError } from '../lib/connection.ts'

/** A lock of stock that is not had within 2 s has a code of its own: the caller repeats the request. */
export const stockBusy = async <Row>(work: () => Promise<Row>): Promise<Row> => {
  try {
    return await work()
  } catch (error) {
    const native = nativeError(error)
    if (!(native instanceof Error && 'code' in native && native.code === '55P03')) throw error
    throw new ApiError('stock_busy', 'The stock is in use; repeat the request', { cause: error, retryAfterSeconds: 1 })
  }
}
