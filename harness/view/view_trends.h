/* SPDX-License-Identifier: MIT */
/* The series of a view's history and what is found in them: once, for all that show it. */
#ifndef HARNESS_VIEW_VIEW_TRENDS_H
#define HARNESS_VIEW_VIEW_TRENDS_H

#include "view/view.h"

/* Sets view->series and view->trends, as `harness trend` judges: all series of the history are one
 * family. Nothing where there is no history. */
void view_find_trends(struct view *view);
void view_trends_free(struct view_trends *trends); /* NULL is fine */

#endif
