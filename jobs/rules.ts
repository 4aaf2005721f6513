import type { Rules } from '../src/ledger/rules.js';
import { noticesOfRun, noticesOfVolume } from '../src/notify/run-notices.js';
import { makesDayGood, reviewsDay } from '../src/review/day/good-day.js';
import {
  abandonRun,
  cancelRun,
  claimStep,
  finishTakeOver,
  initialState,
  mayAwaitResult,
  reopenAbandoned,
  settleRun,
  startDelivery,
  takeOverSteps,
} from '../src/review/state-machine.js';
import { readBooking } from '../src/review/stored/stored-line.js';

/** The rules that every ledger is opened with. */
export const rules: Rules = {
  readBooking,
  startDelivery,
  takeOverSteps,
  finishTakeOver,
  reopenAbandoned,
  settleRun,
  cancelRun,
  abandonRun,
  reviewsDay,
  makesDayGood,
  initialState,
  claimStep,
  mayAwaitResult,
  noticesOfRun,
  noticesOfVolume,
};
