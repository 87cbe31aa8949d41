/** What others owe the house: customers and what they are billed. Other modules and the edges import this file alone. */
export { moveAmounts, lockReceivables } from './state.ts'
