import type { ChargeCall, HeardPix, PixLine, SendCall } from '../../db/cash/index.ts'
import type { Outcome } from '../lib/gateway-job.ts'

/** A bank's word on a charge. `endToEndIds`: the money that came for it. */
export type BankCharge = { status: 'active' | 'paid' | 'closed'; location: string; endToEndIds: string[] }
/** A bank's word on money that it was asked to send. */
export type BankSent =
  | { status: 'done'; endToEndId: string | null; fee: number; on: string }
  | { status: 'failed'; failure: { code: string; message: string } }
  | { status: 'pending' }
/** A bank's word on a return. */
export type BankReturn =
  | { status: 'done' }
  | { status: 'failed'; failure: { code: string; message: string } }
  | { status: 'pending' }

/** A charge at the bank, by its key there. */
export type ChargeName = Pick<ChargeCall['charge'], 'txid' | 'kind'>
export type Calling = { line: PixLine; signal: AbortSignal }

/**
 * A bank as the jobs know it. Every call that changes something carries a key of ours, under which the bank does it once; null is what it does not know.
 */
export type Bank = {
  register: (calling: Calling) => Promise<Outcome<true>>
  createCharge: (calling: Calling, call: ChargeCall) => Promise<Outcome<BankCharge>>
  readCharge: (calling: Calling, charge: ChargeName) => Promise<Outcome<BankCharge | null>>
  cancelCharge: (calling: Calling, charge: ChargeName) => Promise<Outcome<BankCharge | null>>
  readPix: (calling: Calling, endToEndId: string) => Promise<Outcome<HeardPix | null>>
  listPix: (
    calling: Calling,
    from: Date,
    to: Date,
    page: number,
  ) => Promise<Outcome<{ pix: HeardPix[]; more: boolean }>>
  returnPix: (
    calling: Calling,
    /** `isAgain`: it was asked for before, so that a refusal may be that of a repetition. */
    asked: { endToEndId: string; code: string; amount: number; isAgain?: boolean },
  ) => Promise<Outcome<BankReturn>>
  readReturn: (calling: Calling, asked: { endToEndId: string; code: string }) => Promise<Outcome<BankReturn>>
  send: (calling: Calling, call: SendCall) => Promise<Outcome<BankSent>>
  readSent: (calling: Calling, key: string) => Promise<Outcome<BankSent>>
}
