import { addDays } from '../../../config/time.ts'
import { createCostCenter, createDraft, defaultBook, postManualEntry, submitDraft } from '../../financial/index.ts'
import { blockGuest, createCompany, createGuests, registerRequest } from '../../guests/index.ts'
import { always } from '../../lib/conditions.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { createLink } from '../../payment/index.ts'
import {
  confirmGroup,
  createGroup,
  createQuote,
  createWaitlistEntry,
  importRoomingList,
  openFolio,
  optionGroup,
  setRouting,
} from '../../reservations/index.ts'
import { sol } from '../ids.ts'
import { roomOfRef } from './book.ts'
import { buildReceivables } from './receivables.ts'

const { propertyId } = sol

/** Offers that are out, and requests that wait for rooms that are sold. */
export const buildOffers = async (trx: Trx, today: string): Promise<void> => {
  const day = (ahead: number) => addDays(today, ahead)
  const room = { ratePlanId: sol.flexible, adults: 2, childrenAges: [], extras: [] }
  await createQuote(trx, {
    propertyId,
    rooms: [
      { ...room, unitTypeId: sol.deluxe, arrival: day(50), departure: day(54) },
      { ...room, unitTypeId: sol.standard, arrival: day(50), departure: day(54) },
    ],
    hours: 168,
  })
  await createQuote(trx, {
    propertyId,
    rooms: [{ ...room, unitTypeId: sol.master, arrival: day(70), departure: day(72) }],
    hours: 72,
  })
  await createWaitlistEntry(trx, {
    propertyId,
    contact: { name: 'Henrique Salles', phone: '+5521987650009' },
    arrival: day(0),
    departure: day(1),
    unitTypeIds: [sol.master],
    adults: 2,
    priority: 1,
    note: 'Their wedding night',
  })
}

/** A yoga retreat that is confirmed, with a part of its rooming list, and a wedding that has an option. */
export const buildGroups = async (trx: Trx, today: string): Promise<void> => {
  const day = (ahead: number) => addDays(today, ahead)
  const retreat = await createGroup(trx, {
    propertyId,
    code: 'YOGA',
    name: 'Retiro de ioga',
    arrival: day(43),
    departure: day(46),
    ratePlanId: sol.flexible,
    contact: { name: 'Tainá Moraes', email: 'taina@retiros.example' },
    release: { type: 'rolling', daysBefore: 14 },
    allotment: {
      nights: [{ unitTypeId: sol.standard, from: day(43), to: day(46), quantity: 4, amount: 28_000 }],
    },
  })
  await confirmGroup(trx, retreat)
  const rows = [
    {
      rowKey: '1',
      guests: [
        { firstName: 'Joana', lastName: 'Prado' },
        { firstName: 'Lia', lastName: 'Cunha' },
      ],
    },
    { rowKey: '2', guests: [{ firstName: 'Raul', lastName: 'Teles' }] },
    {
      rowKey: '3',
      guests: [
        { firstName: 'Nara', lastName: 'Bento' },
        { firstName: 'Ivo', lastName: 'Bento' },
      ],
    },
  ]
  await importRoomingList(
    trx,
    retreat,
    rows.map(({ rowKey, guests }) => ({
      rowKey,
      guests,
      unitTypeId: sol.standard,
      arrival: day(43),
      departure: day(46),
      adults: guests.length,
      childrenAges: [],
    })),
  )
  const wedding = await createGroup(trx, {
    propertyId,
    code: 'WEDDING',
    name: 'Casamento Lacerda',
    arrival: day(62),
    departure: day(64),
    ratePlanId: sol.flexible,
    contact: { name: 'Renata Lacerda', phone: '+5511987650010' },
    allotment: {
      nights: [
        { unitTypeId: sol.standard, from: day(62), to: day(64), quantity: 5 },
        { unitTypeId: sol.deluxe, from: day(62), to: day(64), quantity: 3 },
      ],
    },
  })
  await optionGroup(trx, wedding, new Date(Date.now() + 14 * 86_400_000).toISOString())
}

/** A firm that pays for the room of a guest and is billed, a link by which another guest pays, a request for data, and a guest who is not welcome. */
export const buildPapers = async (trx: Trx, today: string): Promise<void> => {
  const companyId = await createCompany(trx, {
    kind: 'company',
    legalName: 'Estaleiro da Baía S.A.',
    tradeName: 'Estaleiro da Baía',
    countryCode: 'BR',
    email: 'contas@estaleiro.example',
    contacts: [{ name: 'Sérgio Lemos', role: 'Accounts', email: 'sergio@estaleiro.example' }],
  })
  await buildReceivables(trx, companyId, today)
  const stay = await roomOfRef(trx, 'SOL-406')
  const folio = await openFolio(trx, {
    propertyId,
    kind: 'company',
    reservationId: stay.id,
    label: 'Estaleiro da Baía',
  })
  await setRouting(trx, stay.id, [{ folioId: folio, categories: ['room'] }], null)
  const owing = await roomOfRef(trx, 'SOL-409')
  const due = await sqlOne<{ total: number }>(trx, `select total from reservation where id = ?`, [owing.id])
  await createLink(
    trx,
    {
      amount: due?.total ?? 0,
      currency: 'BRL',
      targetType: 'booking',
      targetId: owing.bookingId,
      payer: { name: 'Fábio Mendes', email: 'fabio.mendes@guests.example' },
      send: { channel: 'email' },
    },
    () => {},
  )
  const [asking = '', barred = ''] = await createGuests(trx, [
    { firstName: 'Alma', lastName: 'Duarte', source: 'staff', email: 'alma.duarte@guests.example' },
    { firstName: 'Nestor', lastName: 'Braga', source: 'staff', email: 'nestor.braga@guests.example' },
  ])
  await registerRequest(trx, { guestId: asking, kind: 'access', channel: 'email' })
  await blockGuest(trx, barred, { level: 'warn', reason: 'Left without paying the minibar', propertyId })
}

/** Manual journal entries: laundry to be billed, wages as a draft that waits for approval, and a draft that is not submitted. */
export const buildBooks = async (trx: Trx, today: string): Promise<void> => {
  const book = await defaultBook(trx)
  if (!book) throw new Error('the tenant has no book')
  const bookId = book.id
  const day = (back: number) => addDays(today, -back)
  const costCenterId = await createCostCenter(trx, { bookId, code: 'HK', name: 'Governança' })
  const entry = (description: string, postingDate: string, debit: string, amount: number, center?: string) => ({
    bookId,
    description,
    postingDate,
    lines: [
      { accountCode: debit, debit: amount, propertyId, ...(center ? { costCenterId: center } : {}) },
      { accountCode: '2.1.7.01', credit: amount, propertyId },
    ],
  })
  await postManualEntry(trx, entry('Laundry of the week', day(1), '5.1.02', 184_500, costCenterId), always)
  await postManualEntry(trx, entry('Soap and shampoo, to be billed', day(2), '5.1.04', 42_300), always)
  const draft = await createDraft(trx, entry('Housekeeping wages', day(0), '5.1.01', 612_000, costCenterId))
  await submitDraft(trx, draft, always)
  await createDraft(trx, entry('Cleaning supplies', day(0), '5.1.03', 23_900))
}
