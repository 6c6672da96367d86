/* The style sheet of the report; pictures have their own (svg.h). */
#ifndef FERRY_LAB_REPORT_STYLE_H
#define FERRY_LAB_REPORT_STYLE_H

extern const char ferry_report_style[];

#endif
