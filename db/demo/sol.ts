import { todayIn } from '../../config/time.ts'
import type { Trx } from '../lib/connection.ts'
import { createFiscalYear, defaultBook } from '../financial/index.ts'
import { addSandboxAccount } from '../payment/index.ts'
import { goLive, addImages, setPaymentMethods, takeOver } from '../properties/index.ts'
import { createEndpoint, pauseEndpoint } from '../webhooks/index.ts'
import { sol } from './ids.ts'
import { firstDay, timeZone } from './prices.ts'
import { buildBar } from './sol-bar.ts'
import { buildBilling } from './sol-billing.ts'
import { buildDesk } from './sol-desk.ts'
import { buildGuests } from './sol-guests.ts'
import { buildProperty, buildTypes } from './sol-house.ts'
import { buildMessages } from './sol-messages.ts'
import { buildCharges, buildPlans } from './sol-rates.ts'

const picture = (name: string) => ({
  url: `https://images.pousada.example/sol/${name}.jpg`,
  facts: { width: 1600, height: 1067, mimeType: 'image/jpeg', bytes: 312_000 },
})

/** An address that takes events once somebody gives it one of theirs: until then it is paused, and nothing is sent there. */
const buildHook = async (trx: Trx): Promise<void> => {
  const { id } = await createEndpoint(trx, {
    url: 'https://hooks.sol.example/pousada',
    description: 'Data warehouse',
    types: ['reservation.*', 'payment.*', 'folio.*'],
    subjects: ['Reservation', 'Payment', 'Folio'],
  })
  await pauseEndpoint(trx, id, 'The address is not there yet')
}

/** The inn has been open for two days: at the turn of the year the book needs the year before too. */
const openBooks = async (trx: Trx, bookId: string): Promise<void> => {
  const first = firstDay()
  const startsOn = `${first.slice(0, 4)}-01-01`
  if (first.slice(0, 4) !== todayIn(timeZone).slice(0, 4)) await createFiscalYear(trx, { bookId, startsOn })
  await takeOver(trx, sol.propertyId, first)
}

/** "Pousada do Sol": an inn of 12 units that guests can book, with everything that a booking passes through. */
export const buildSol = async (trx: Trx): Promise<void> => {
  const { propertyId, gatewayAccountId } = sol
  const book = await defaultBook(trx)
  if (!book) throw new Error('the tenant has no book')
  await buildProperty(trx)
  await openBooks(trx, book.id)
  await addSandboxAccount(trx, {
    id: gatewayAccountId,
    bookId: book.id,
    country: 'BR',
    currency: 'BRL',
    label: 'Sandbox',
  })
  await buildTypes(trx)
  await buildPlans(trx, await buildCharges(trx))
  await addImages(trx, propertyId, [
    { ...picture('facade'), category: 'exterior', caption: { 'pt-BR': 'A casa principal', en: 'The main house' } },
    { ...picture('pool'), category: 'common', caption: { 'pt-BR': 'A piscina', en: 'The pool' } },
    { ...picture('breakfast'), category: 'food', caption: { 'pt-BR': 'O café da manhã', en: 'Breakfast' } },
    {
      ...picture('garden-room'),
      category: 'unit',
      unitTypeId: sol.standard,
      caption: { 'pt-BR': 'Quarto Jardim', en: 'Garden Room' },
    },
    {
      ...picture('sea-view-room'),
      category: 'unit',
      unitTypeId: sol.deluxe,
      caption: { 'pt-BR': 'Quarto Vista Mar', en: 'Sea View Room' },
    },
    {
      ...picture('master-suite'),
      category: 'unit',
      unitTypeId: sol.master,
      caption: { 'pt-BR': 'Suíte Master', en: 'Master Suite' },
    },
  ])
  await setPaymentMethods(trx, propertyId, [
    {
      method: 'pix',
      offeredTo: 'both',
      gatewayAccountId,
      instructions: { 'pt-BR': 'O código vale por 30 minutos.', en: 'The code is good for 30 minutes.' },
    },
    { method: 'card', offeredTo: 'both', gatewayAccountId, maxInstallments: 6 },
    { method: 'cash', offeredTo: 'staff' },
  ])
  await goLive(trx, propertyId)
  await buildDesk(trx)
  await buildGuests(trx)
  await buildHook(trx)
  await buildMessages(trx)
  await buildBar(trx)
  await buildBilling(trx, book)
}
